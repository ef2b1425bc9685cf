"""How far the embedded phone behaves as Android does, by programs that others wrote: clients and official suites."""
