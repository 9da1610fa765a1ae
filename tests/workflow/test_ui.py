"""`make ui`: what it serves, and what it says of servers that are somebody's own."""

from types import SimpleNamespace

import pytest

from pascal.pipeline import ui


@pytest.mark.parametrize(
    ("uri", "said", "serves"),
    [
        ("postgresql://me:secret@db/mlflow", "http://127.0.0.1:5001/", True),
        ("https://me:secret@runs.example.org", "https://***@runs.example.org/", False),
    ],
)
def test_databases_are_served_and_no_password_is_told(
    uri: str, said: str, serves: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    started: list[tuple[str, str]] = []
    client = SimpleNamespace(get_experiment_by_name=lambda _: SimpleNamespace(experiment_id="7"))
    monkeypatch.setenv("MLFLOW_TRACKING_URI", uri)
    monkeypatch.setattr(ui, "MlflowClient", lambda _: client)
    monkeypatch.setattr(ui, "_serve", lambda *given: started.append(given))
    monkeypatch.setattr(ui, "_has_screen", lambda: False)
    assert ui.main("5001") == 0
    printed = capsys.readouterr().out
    assert said in printed
    assert "secret" not in printed
    assert started == [(uri, "5001")] * serves
