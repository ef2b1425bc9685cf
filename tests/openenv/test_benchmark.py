"""The benchmark of OpenEnv measures our server and OpenEnv's echo with as many bytes."""

import json

from benchmarks.openenv import __main__ as openenv


def test_it_compares_all_ways(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(openenv, "SCREENS", ((180, 400),))
    monkeypatch.setattr(openenv, "FAMILIES", 2)
    openenv.main(["--seeds", "0", "--json", str(tmp_path / "openenv.json")])
    result = json.loads((tmp_path / "openenv.json").read_text())
    (run,) = result["runs"]["180x400"]
    assert run["kilobytes"] > 5 and len({run[way]["steps"] for way in openenv.WAYS}) == 1
    assert result["headline"]["openenv_core_ms_180x400"] > result["headline"]["gymnasium_core_ms_180x400"] > 0
    assert "rerun: python -m benchmarks.openenv --seeds 0" in capsys.readouterr().out
