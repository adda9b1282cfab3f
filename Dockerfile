# polyveil with its kernels compiled: the first run is as fast as every other.
#
#   docker build -t polyveil .
#   docker run --rm --network none -v "$PWD:/data" -u "$(id -u):$(id -g)" polyveil anonymize t.csv -p p.yaml -o release
#   docker run --rm -p 127.0.0.1:8765:8765 -v "$PWD:/data" polyveil serve --host 0.0.0.0 --port 8765 --no-open
FROM python:3.13-slim-trixie

ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
# Kernels for any processor of the kind: `--build-arg CPU=x86-64-v3` makes them faster, for newer ones only.
ARG CPU=generic
ENV NUMBA_CACHE_DIR=/opt/kernels NUMBA_CPU_NAME=$CPU

WORKDIR /opt/polyveil
COPY pyproject.toml constraints.txt README.md LICENSE ./
COPY src ./src
RUN pip install -c constraints.txt ".[db,web]"
# The compiler takes a cache only if it can write there, whoever runs the container; a container has one user.
RUN polyveil warmup && chmod -R a+rwX /opt/kernels

RUN useradd --create-home steward
USER steward
WORKDIR /data
ENTRYPOINT ["polyveil"]
CMD ["--help"]
