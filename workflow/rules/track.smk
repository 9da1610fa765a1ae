# Chapter: track. MLflow is a sink: results are files first, and one process uploads them.

TRACKING_URI = os.environ.get("MLFLOW_TRACKING_URI", "sqlite:///results/mlflow.db")
TRACKED = f"work/mlflow/{digest(TRACKING_URI)}.json"
if TRACKING_URI.startswith("sqlite:///") and not Path(TRACKING_URI.removeprefix("sqlite:///")).exists():
    Path(TRACKED).unlink(missing_ok=True)  # a deleted database holds nothing any more


rule track:
    input:
        rules.report.input,
        params="build/report.json",
        code=code_of("track"),
    output:
        TRACKED,
    log:
        "logs/track.log",
    benchmark:
        "logs/times/track.tsv"
    conda:
        "../envs/pascal.yaml"
    threads: 1
    resources:
        mem_mb=1000,
    params:
        uri=TRACKING_URI,
    script:
        "../scripts/track.py"
