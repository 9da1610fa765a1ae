# Chapter: data. What the images are, which are set aside, and their checksums.


rule prepare:
    input:
        params="build/datasets/{dataset}.json",
        code=code_of("prepare"),
    output:
        "results/data/{dataset}.json",
    log:
        "logs/prepare/{dataset}.log",
    benchmark:
        "logs/times/prepare/{dataset}.tsv"
    conda:
        "../envs/pascal.yaml"
    threads: 1
    resources:
        mem_mb=megabytes(2000),
        runtime=minutes(60),
    script:
        "../scripts/prepare.py"
