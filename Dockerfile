# The operator's image: the program, the libraries it is linked to and the certificates of public CAs, nothing else.
FROM rust:1.95-bookworm AS build
WORKDIR /src
COPY . .
RUN cargo build --release --locked --package truce-operator --bin truce
RUN set -eu; \
    mkdir -p /image/etc/ssl/certs; \
    cp target/release/truce /image/truce; \
    cp /etc/ssl/certs/ca-certificates.crt /image/etc/ssl/certs/; \
    ldd /image/truce | grep -o '/[^ ]*' | xargs -I {} cp --parents --dereference {} /image; \
    printf 'truce:x:65532:65532::/:/\n' > /image/etc/passwd

FROM scratch
COPY --from=build /image /
USER 65532:65532
EXPOSE 8080
ENTRYPOINT ["/truce"]
CMD ["run"]
