# The server with all a training needs; sessions are kept in the volume /runs.
#   docker build --tag p2p-mcp .
#   docker run --interactive --rm --init --volume p2p-runs:/runs p2p-mcp
# The trainings of a container end with it.
FROM python:3.12-slim-bookworm

LABEL org.opencontainers.image.title="p2p-mcp" \
      org.opencontainers.image.licenses="MIT"

RUN apt-get update \
    && apt-get install --yes --no-install-recommends libosmesa6 \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --create-home --uid 1000 p2p \
    && install --directory --owner p2p /runs

WORKDIR /opt/p2p
COPY requirements ./requirements
RUN pip install --no-cache-dir --only-binary :all: --no-deps --require-hashes \
    --requirement requirements/build.lock --requirement requirements/train.lock
COPY pyproject.toml README.md LICENSE ./
COPY p2p ./p2p
COPY p2p_mcp ./p2p_mcp
RUN pip install --no-cache-dir --no-deps --no-build-isolation .

USER p2p
WORKDIR /home/p2p
ENV MUJOCO_GL=osmesa \
    P2P_RUNS_DIR=/runs
VOLUME /runs
ENTRYPOINT ["p2p-mcp"]
