"""Android as Gymnasium environments: devices, suites of tasks, scripted experts."""
