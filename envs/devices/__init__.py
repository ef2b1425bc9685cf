"""Devices: the embedded phone, anything that adb reaches, emulators by gRPC, and fleets of them."""
