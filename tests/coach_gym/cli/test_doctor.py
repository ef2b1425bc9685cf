"""`coach-gym doctor` on fake computers made of folders and scripts."""

import stat

import pytest

from coach_gym.__main__ import main
from coach_gym.cli import doctor
from coach_gym.cli.checks import benchmarks, device, emulator, finding, training
from coach_gym.cli.checks.device import ANDROID_LAB_APPS, ANDROID_WORLD_APPS
from coach_gym.cli.checks.finding import Finding, Host
from coach_gym.envs.phone import shell
from tests.envs.ports import free_port
from tests.envs.served_phone import adb_server, served_phone


def script(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


@pytest.fixture
def host(tmp_path):
    """An empty computer."""
    (tmp_path / "bin").mkdir()
    return Host({"HOME": str(tmp_path), "PATH": str(tmp_path / "bin")}, kvm=tmp_path / "kvm")


def test_an_empty_computer_lacks_every_part_of_the_emulator_and_is_told_how_to_get_it(host):
    for check in (emulator.kvm, emulator.android_sdk, emulator.emulator, emulator.system_image, emulator.avd):
        found = check(host)
        assert (found.state, bool(found.mend)) == ("missing", True), found
    assert 'sdkmanager "system-images;android-33;google_apis;x86_64"' in emulator.system_image(host).mend


def test_a_computer_with_everything_is_in_order(host, tmp_path):
    host.kvm.touch()
    script(tmp_path / "Android/Sdk/emulator/emulator", "echo Android emulator version 35.1.2")
    image = tmp_path / "Android/Sdk/system-images/android-33/google_apis/x86_64/system.img"
    image.parent.mkdir(parents=True)
    image.touch()
    (tmp_path / ".android/avd").mkdir(parents=True)
    (tmp_path / ".android/avd/AndroidWorldAvd.ini").write_text("path=x\n")
    checks = (emulator.kvm, emulator.android_sdk, emulator.emulator, emulator.system_image, emulator.avd)
    findings = [check(host) for check in checks]
    assert [finding.state for finding in findings] == ["ok"] * 5, findings
    assert "35.1.2" in findings[2].found
    assert "android-33;google_apis;x86_64" in findings[3].found
    assert "AndroidWorldAvd" in findings[4].found


def test_virtual_machines_that_this_user_may_not_run_are_missing(host, monkeypatch):
    host.kvm.touch()
    monkeypatch.setattr(emulator.os, "access", lambda path, mode: False)
    assert (emulator.kvm(host).state, "usermod -aG kvm" in emulator.kvm(host).mend) == ("missing", True)


@pytest.mark.parametrize("folder", ["android-33/google_apis_playstore/x86_64", "android-34/google_apis/x86_64"])
def test_an_image_that_the_benchmarks_cannot_use_is_missing(host, tmp_path, folder):
    image = tmp_path / "Android/Sdk/system-images" / folder / "system.img"
    image.parent.mkdir(parents=True)
    image.touch()
    assert emulator.system_image(host).state == "missing"


def test_a_program_that_fails_is_missing(host, tmp_path):
    script(tmp_path / "Android/Sdk/emulator/emulator", "echo libX11 not found; exit 1")
    found = emulator.emulator(host)
    assert found.state == "missing" and "libX11 not found" in found.found


def test_a_program_that_hangs_is_missing(host, tmp_path, monkeypatch):
    monkeypatch.setattr(finding, "COMMAND_TIME", 0.2)
    script(tmp_path / "Android/Sdk/emulator/emulator", "exec sleep 20")
    assert emulator.emulator(host).state == "missing"


def test_variables_of_the_kit_are_obeyed(host, tmp_path):
    (tmp_path / "kit").mkdir()
    named = Host({**host.environ, "ANDROID_HOME": str(tmp_path / "kit"), "ANDROID_AVD_HOME": str(tmp_path / "mine")})
    assert emulator.android_sdk(named).found == str(tmp_path / "kit")
    assert str(tmp_path / "mine") in emulator.avd(named).found


@pytest.mark.parametrize(
    ("answer", "torch", "state"),
    [
        ("echo 'NVIDIA H200, 143771 MiB'", "2.13.0+cu130", "ok"),
        ("echo 'NVIDIA H200, 143771 MiB'", "2.13.0+cpu", "missing"),
        ("echo 'driver mismatch'; exit 9", "2.13.0+cu130", "missing"),
    ],
)
def test_a_card_needs_a_driver_and_a_pytorch_that_uses_it(host, tmp_path, monkeypatch, answer, torch, state):
    assert training.gpu(host).state == "missing"
    script(tmp_path / "bin/nvidia-smi", answer)
    monkeypatch.setattr(training.metadata, "version", lambda name: torch)
    assert training.gpu(host).state == state


def test_packages_are_those_that_the_installation_declares(monkeypatch):
    assert training.packages("packages", "").state == "ok"
    declared = ["numpy>=1", "no-such-package", "numpy<1 ; extra == 'odd'", "torch>=999 ; extra == 'other'"]
    monkeypatch.setattr(training.metadata, "requires", lambda name: declared)
    found = training.packages("packages", "")
    assert (found.state, found.found, found.mend) == ("missing", "no-such-package", "pip install 'coach-gym'")
    assert training.packages("odd packages", "odd").found == "numpy<1"
    assert training.packages("none", "undeclared").state == "not checked"


@pytest.mark.parametrize(
    ("check", "variable", "file"),
    [
        (benchmarks.android_world, "COACH_ANDROID_WORLD", "android_world/registry.py"),
        (benchmarks.android_lab, "COACH_ANDROID_LAB", "evaluation/config/clock.yaml"),
    ],
)
def test_checkouts_are_recognised_by_what_is_in_them(host, tmp_path, check, variable, file):
    assert check(host).state == "missing"
    named = Host({**host.environ, variable: str(tmp_path / "checkout")})
    assert check(named).state == "missing" and variable in check(named).found
    (tmp_path / "checkout" / file).parent.mkdir(parents=True)
    (tmp_path / "checkout" / file).touch()
    assert check(named).state == "ok"


def test_a_device_is_looked_into(monkeypatch):
    with adb_server() as port, served_phone() as server:
        found = {finding.name: finding for finding in device.devices(Host(serial=server.address, server_port=port))}
        assert found["device"].state == found["screen"].state == found["root"].state == "ok"
        assert "screen_size=(270, 600)" in found["screen"].found
        assert found["accessibility forwarder"].state == "ok"
        assert found["gRPC"].state == "not checked"  # only local emulators have it
        installed = {line.removeprefix("package:") for line in shell_of(server, "pm list packages").split()}
        for name, apps in (("AndroidWorld's apps", ANDROID_WORLD_APPS), ("AndroidLab's apps", ANDROID_LAB_APPS)):
            absent = [app for app in apps if app not in installed]
            assert found[name].state == ("missing" if absent else "ok")
            assert all(app in found[name].found for app in absent)
        first = device.devices(Host(server_port=port))[0]  # the first that adb lists
        assert (first.state, first.found) == ("ok", f"{server.address} device")
        serial = f"emulator-{server.console_port}"
        found = {finding.name: finding for finding in device.devices(Host(serial=serial, server_port=port))}
        assert found["gRPC"].state == "missing" and f"-grpc {server.console_port + 3000}" in found["gRPC"].mend


def shell_of(server, command):
    return shell.run(server.phone, command).stdout.decode()


def test_without_a_device_nothing_is_said_about_it():
    with adb_server() as port:
        first, *rest = device.devices(Host(server_port=port))
        assert (first.state, first.found) == ("missing", "no device is connected")
        assert {each.state for each in rest} == {"not checked"}
        first, *_ = device.devices(Host(serial=f"127.0.0.1:{free_port()}", server_port=port))
        assert first.state == "missing" and "did not appear" in first.found


FINDINGS = [
    Finding("packages", "ok", "all"),
    Finding("GPU", "missing", "none", "buy one\nplug it in"),
    Finding("vLLM", "not checked", "why not"),
    Finding("device", "missing", "none", "plug one in"),
]


@pytest.mark.parametrize(("purpose", "code"), [("phone", 0), ("device", 1), ("training", 0), ("gpu_training", 1)])
def test_the_exit_code_says_whether_the_purpose_has_what_it_needs(purpose, code):
    text, exit_code = doctor.report(FINDINGS, purpose)
    assert exit_code == code
    assert ("-> buy one\n" in text and "-> plug it in\n" in text) is (purpose == "gpu_training")
    named = [line.split()[1] for line in text.splitlines() if line.startswith(("ok", "missing"))]
    assert set(named) <= set(doctor.PURPOSES[purpose])  # and nothing that was not asked


def test_what_was_not_checked_is_not_in_order():
    text, code = doctor.report(FINDINGS, "gpu_training")
    assert code == 1
    assert text.endswith("Not in order: GPU, vLLM.")


def test_every_need_is_something_that_is_looked_at(host, monkeypatch):
    monkeypatch.setattr(device, "_connected", lambda host: (_ for _ in ()).throw(device.DeviceError("none")))
    examined = [finding.name for finding in doctor.examine(host)]
    assert len(examined) == len(set(examined))
    for needs in doctor.PURPOSES.values():
        assert set(needs) <= set(examined)


def test_the_command_line_prints_the_report_and_exits_with_its_code(monkeypatch, capsys):
    seen = []
    monkeypatch.setattr(doctor, "examine", lambda host: seen.append(host) or FINDINGS)
    with pytest.raises(SystemExit) as left:
        main(["doctor", "--for", "gpu_training", "--device", "emulator-5556", "--adb-port", "5039"])
    assert left.value.code == 1
    assert (seen[0].serial, seen[0].server_port) == ("emulator-5556", 5039)
    assert "missing      GPU" in capsys.readouterr().out
    with pytest.raises(SystemExit) as left:
        main(["doctor"])
    assert left.value.code == 0
    lines = capsys.readouterr().out.splitlines()
    assert {"training         in order", "gpu_training     lacks GPU, vLLM"} <= set(lines)
    assert any("plug one in" in line for line in lines)
