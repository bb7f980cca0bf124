# The service and its command line on Node, with what they need in production and nothing else: no script of a package
# is run, no compiler, no database, no shell and no package manager is in it. How it is run is in docker-compose.yml.

# docs/settings.md, "Docker", says how to pin it to a digest.
ARG NODE_IMAGE=node:24.21.0-slim
FROM ${NODE_IMAGE} AS base
WORKDIR /app

FROM base AS packages
COPY package.json package-lock.json .npmrc ./
# The compiler of TypeScript would come along as a peer of Prisma. What nobody reads is deleted: what `postinstall`
# deletes everywhere, and what a type checker reads.
RUN npm ci --omit=dev --omit=optional --omit=peer --ignore-scripts \
  && npm run postinstall \
  && find node_modules -type f \( -name '*.d.ts' -o -name '*.d.mts' -o -name '*.d.cts' \) -delete
# What is in it, as CycloneDX, and under which licences.
COPY deploy/image/listPackages.mjs /usr/local/lib/
RUN npm sbom --package-lock-only --sbom-format=cyclonedx | node /usr/local/lib/listPackages.mjs

# Of Debian what Node needs, `env`, by which `mkopo` begins, and tini. Scanners read the names and versions in status.d.
FROM base AS system
RUN apt-get update && apt-get install --yes --no-install-recommends tini
RUN set -e; programs='/usr/local/bin/node /usr/bin/env'; libraries=$(ldd $programs | grep -o '/[^ :]*' | sort -u); \
  mkdir -p /system/var/lib/dpkg/status.d /system/usr/local/bin; \
  cp --parents --dereference $libraries $programs /etc/os-release /etc/nsswitch.conf /system; \
  cp /usr/bin/tini-static /system/usr/local/bin/tini; \
  ln -s /app/src/ops/mkopo.mjs /system/usr/local/bin/mkopo; \
  for file in $libraries /usr/bin/env /usr/bin/tini-static; do \
  dpkg --search "*/$(basename $file)" 2> /dev/null | cut -d : -f 1; done | sort -u | while read package; do \
  dpkg --status $package > /system/var/lib/dpkg/status.d/$package; cp --parents /usr/share/doc/$package/copyright /system; done; \
  echo 'mkopo:x:1000:1000::/app:/nonexistent' > /system/etc/passwd; echo 'mkopo:x:1000:' > /system/etc/group; \
  install --directory --mode=1777 /system/tmp; \
  # The file of heads: a volume that is mounted here gets the owner of this directory.
  install --directory --owner=1000 --group=1000 /system/var/lib/mkopo

FROM scratch
ENV PATH=/usr/local/bin:/usr/bin NODE_ENV=production HOST=0.0.0.0
WORKDIR /app
COPY --from=system /system /
COPY --from=packages /app/node_modules node_modules
COPY --from=packages /app/sbom.cdx.json /app/licences.csv ./
COPY package.json LICENSE ./
COPY prisma/migrations prisma/migrations
COPY docs docs
COPY src src

LABEL org.opencontainers.image.title="Mkopo" \
  org.opencontainers.image.description="A loan management service for East African lenders" \
  org.opencontainers.image.licenses="Apache-2.0" \
  org.opencontainers.image.version="0.1.0"

# By number, so that an orchestrator can see that it is not root's.
USER 1000:1000
EXPOSE 3000 3001
STOPSIGNAL SIGTERM
# Whether the process lives: some orchestrators kill what is unhealthy, and a database that is gone is no reason to.
# A router of requests asks /health/ready instead.
HEALTHCHECK --interval=5s --timeout=5s --start-period=60s --retries=6 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT || 3000}/health/live`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["tini", "--"]
CMD ["node", "--max-semi-space-size=32", "--no-parallel-scavenge", "--no-allocation-site-pretenuring", "--heap-growing-percent=30", "--require", "./src/process/requireNode.cjs", "--import", "./src/observability/tracing.ts", "src/app/main.ts"]
