# Chapter: train. A uniform network to the end of its schedule; an adaptive one in two parts (Algorithm 4), or from the
# end of its start's.


rule train:
    input:
        data=data_of,
        weights=weights_of,
        params=params_of("train"),
        code=code_of("train"),
    output:
        **results_of("train"),
    log:
        "logs/train/{run}-{seed}.log",
    benchmark:
        "logs/times/train/{run}-{seed}.tsv"
    wildcard_constraints:
        run=names(*manifest.STAGES["train"].kinds),
    conda:
        "../envs/pascal.yaml"
    threads: training_threads_of
    resources:
        gpu=training_gpus_of,
        mem_mb=megabytes(1500, 4000, processes_of),
        runtime=minutes(1440),
    params:
        keep=kept_epochs,
    script:
        "../scripts/train.py"


rule calibrate:
    # in the place of training
    input:
        data=data_of,
        weights=weights_of,
        params=params_of("calibrate"),
        code=code_of("calibrate"),
    output:
        **results_of("calibrate"),
    log:
        "logs/calibrate/{run}-{seed}.log",
    benchmark:
        "logs/times/calibrate/{run}-{seed}.tsv"
    wildcard_constraints:
        run=names(*manifest.STAGES["calibrate"].kinds),
    conda:
        "../envs/pascal.yaml"
    threads: threads_of
    resources:
        gpu=gpus_of,
        mem_mb=megabytes(3000, 1000),
        runtime=minutes(240),
    script:
        "../scripts/calibrate.py"


rule retrain:
    input:
        data=data_of,
        weights=weights_of,
        reused=lambda wildcards: start_of("ann.safetensors")(wildcards) if reuses(wildcards) else [],
        params=params_of("retrain"),
        code=code_of("retrain"),
    output:
        state="work/retrain/{run}/{seed}.safetensors",
        curve="work/retrain/{run}/{seed}.csv",
    log:
        "logs/retrain/{run}-{seed}.log",
    benchmark:
        "logs/times/retrain/{run}-{seed}.tsv"
    wildcard_constraints:
        run=names(*manifest.ADAPTIVE),
    conda:
        "../envs/pascal.yaml"
    threads: training_threads_of
    resources:
        gpu=training_gpus_of,
        mem_mb=megabytes(1500, 4000, processes_of),
        runtime=minutes(1440),
    script:
        "../scripts/retrain.py"


rule finetune:
    input:
        data=data_of,
        state=retrained(rules.retrain.output.state),
        ann=lambda wildcards: [] if retrains(wildcards) else start_of("ann.safetensors")(wildcards),
        curve=retrained(rules.retrain.output.curve, start_of("train.csv")),
        levels=f"{HOME}/levels.json",
        plan=lambda wildcards: f"{HOME}/plan.json" if RUNS[wildcards.run].kind == "planned" else [],
        params=params_of("finetune"),
        code=code_of("finetune"),
    output:
        **results_of("finetune"),
    log:
        "logs/finetune/{run}-{seed}.log",
    benchmark:
        "logs/times/finetune/{run}-{seed}.tsv"
    wildcard_constraints:
        run=names(*manifest.STAGES["finetune"].kinds),
    conda:
        "../envs/pascal.yaml"
    threads: training_threads_of
    resources:
        gpu=training_gpus_of,
        mem_mb=megabytes(1500, 4000, processes_of),
        runtime=minutes(1440),
    script:
        "../scripts/finetune.py"
