"""Accuracy tables: ANN against SNN, the adaptive runs, and plain IF over timesteps."""

from collections.abc import Sequence

import pandas as pd

from pascal.report.describe import Reported, beside, describe, missing_last, reported_numbers
from pascal.report.registry import table
from pascal.report.results import Results, gather, overview
from pascal.report.rows import Rows, frame, over_seeds, shares

_CERTIFICATE = ["neurons", "count_mismatches", "prediction_mismatches"]
_PAPER = ["reported_levels", "reported_t_eff", "reported_snn_accuracy_percent"]


@table(
    "Accuracy of the ANN and of the SNN converted from it, mean ± std over seeds. The certificate counts neurons whose "
    "spikes differ from the ANN's level. Reported numbers are the paper's, of networks of width 1."
)
def accuracy(results: Results, audit: Rows) -> pd.DataFrame:
    """One row per run."""
    return accuracy_table(overview(results), audit)


@table(
    "Adaptive layerwise runs: levels of each layer, effective timesteps and accuracy, beside the accuracy of the run "
    "that each seed started from. Seeds are named where they took different levels. Reported numbers are the paper's, "
    "of networks of width 1."
)
def adaptive(results: Results, audit: Rows) -> pd.DataFrame:
    """One row per run and assignment."""
    return al_table(overview(results), audit)


@table(
    "Accuracy of the plain IF network over timesteps, of PASC on the same images at its effective timesteps, and where "
    "the former reaches the latter.",
    files=("accuracy_vs_timesteps",),
)
def timesteps(results: Results, audit: Rows) -> pd.DataFrame:
    """One row per run."""
    return timesteps_table(overview(results), gather(results, "accuracy_vs_timesteps"))


def accuracy_table(runs: Rows, audit: Rows = ()) -> pd.DataFrame:
    """ANN and SNN accuracy of each run, mean and std over seeds, beside the paper's (width 1), with the certificate.

    Columns of `runs`: those of `overview`; of `audit`: those of `audit.audit_rows`.
    """
    table = frame(runs, ["run", "seed", "ann_accuracy", "snn_accuracy", "images", *_CERTIFICATE], "runs")
    reported = reported_numbers(audit)
    joined = describe(runs, ["accuracy", "verify"])
    for network in ("ann", "snn"):
        joined = joined.merge(_percent(table, ["run"], f"{network}_accuracy"), on="run", how="left")
        joined[f"reported_{network}_accuracy_percent"] = beside(joined, reported, f"{network.upper()} accuracy %")
    groups = table.groupby("run", sort=False)
    joined["images"] = joined.run.map(groups["images"].max())
    joined["certificate"] = joined.run.map({run: _certificate(group) for run, group in groups})
    return missing_last(joined)


def al_table(runs: Rows, audit: Rows = ()) -> pd.DataFrame:
    """Adaptive runs: χ, values, levels per layer, T_eff and accuracy, beside the uniform run and the paper's row.

    One row per run and assignment, since seeds may cluster differently. The paper's row is the one with the same
    network, dataset and set of levels. Columns of `runs`: those of `overview`.
    """
    table = frame(runs, ["run", "seed", "start", "clusters", "values", "levels", "t_eff", "snn_accuracy"], "runs")
    keys = ["run", "levels"]
    own = table.set_index(["run", "seed"])["snn_accuracy"]
    table["start_accuracy"] = [own.get((row.start, row.seed)) for row in table.itertuples()]  # of the same seed
    settings = table[table.start != ""].groupby(keys, sort=False)[["start", "clusters", "values"]].first()
    done = table[table.snn_accuracy.notna()].groupby(keys)["seed"]
    named = {key: ", ".join(map(str, sorted(seeds))) for key, seeds in done}
    settings["seeds"] = [named.get(key, "") for key in settings.index]
    left = describe(runs, ["accuracy", "levels", "metric", "energy_summary"]).drop(columns=["levels", "seeds"])
    joined = left.merge(settings.reset_index(), on="run")
    joined = joined.merge(over_seeds(table, keys, ["t_eff"]), on=keys)
    joined = joined.merge(_percent(table, keys, "snn_accuracy"), on=keys)
    joined = joined.merge(_percent(table, keys, "start_accuracy"), on=keys)
    joined[_PAPER] = _paper_rows(joined, reported_numbers(audit))
    return missing_last(joined)


def timesteps_table(runs: Rows, curves: Rows) -> pd.DataFrame:
    """PASC's accuracy, that of plain IF at each number of timesteps, and the timesteps plain IF needs to reach PASC.

    Columns of `runs`: those of `overview`; of `curves`: run, seed, timesteps, images, accuracy and ann_accuracy
    (shares, of the same images; PASC's accuracy is the ANN's).
    """
    table = frame(runs, ["run", "seed", "t_eff"], "runs")
    columns = ["run", "seed", "timesteps", "images", "accuracy", "ann_accuracy"]
    curves = frame(curves, columns, "accuracy_vs_timesteps.csv")
    exact = curves.drop_duplicates(["run", "seed"]).rename(columns={"ann_accuracy": "pasc_accuracy"})
    plain = _percent(curves, ["run", "timesteps"], "accuracy").pivot(
        index="run", columns="timesteps", values="accuracy_percent"
    )
    joined = describe(runs, ["accuracy_vs_timesteps"])
    joined = joined.merge(over_seeds(table, ["run"], ["t_eff"])[["run", "t_eff"]], on="run", how="left")
    joined = joined.merge(_percent(exact, ["run"], "pasc_accuracy"), on="run", how="left")
    joined["images"] = joined.run.map(curves.groupby("run")["images"].max())
    joined["if_reaches_pasc_at"] = [_reaches(plain, row.run, row.pasc_accuracy_percent) for row in joined.itertuples()]
    named = plain.rename(columns=lambda timesteps: f"if_t{int(timesteps)}_percent")
    return missing_last(joined.merge(named, left_on="run", right_index=True, how="left"))


def _percent(table: pd.DataFrame, by: Sequence[str], column: str) -> pd.DataFrame:
    """Mean and std of an accuracy over seeds, as `…_percent`."""
    percent = 100 * pd.to_numeric(shares(table, [column], "accuracies")[column])
    return over_seeds(table.assign(**{f"{column}_percent": percent}), by, [f"{column}_percent"])


def _paper_rows(table: pd.DataFrame, reported: Reported) -> pd.DataFrame:
    assignments = {
        (*key[1:3], frozenset(key[3].split())): [key[3], t_eff, reported.get(("SNN accuracy %", *key[1:]), "")]
        for key, t_eff in reported.items()
        if key[0] == "T_eff"
    }
    ours = zip(table.network, table.dataset, [frozenset(levels.split()) for levels in table.levels], strict=True)
    return pd.DataFrame([assignments.get(key, [""] * 3) for key in ours], index=table.index, columns=_PAPER)


def _certificate(group: pd.DataFrame) -> str:
    """In words, with whole numbers: a rounded share of mismatches must not look like none."""
    done = group.dropna(subset=_CERTIFICATE)
    if done.empty:
        return "not verified"
    neurons, counts, predictions = (int(done[name].sum()) for name in _CERTIFICATE)
    verdict = "exact" if counts == predictions == 0 else "NOT EXACT"
    unverified = f"; {len(group) - len(done)} of {len(group)} seeds not verified" if len(done) < len(group) else ""
    return f"{verdict}: {counts:,} of {neurons:,} neurons, {predictions:,} predictions differ{unverified}"


def _reaches(plain: pd.DataFrame, run: str, accuracy: float) -> str:
    if run not in plain.index or pd.isna(accuracy):
        return ""
    known = plain.loc[run].dropna()
    reached = known.index[known >= accuracy]
    return str(int(reached[0])) if len(reached) else f"not by {int(known.index[-1])}"
