# The service and its command line on Node, with what they need in production and nothing else: no script of a package
# is run, no compiler and no database is installed. How it is run is in docker-compose.yml.

# docs/settings.md, "Docker", says how to pin it to a digest.
ARG NODE_IMAGE=node:24.21.0-slim
FROM ${NODE_IMAGE} AS base
WORKDIR /app

FROM base AS packages
COPY package.json package-lock.json .npmrc ./
# The compiler of TypeScript would come along as a peer of Prisma. What nobody reads is deleted: what `postinstall`
# deletes everywhere, and what a debugger and a type checker read.
RUN npm ci --omit=dev --omit=optional --omit=peer --ignore-scripts \
  && npm run postinstall \
  && find node_modules -type f \( -name '*.map' -o -name '*.d.ts' -o -name '*.d.mts' -o -name '*.d.cts' \) -delete

FROM base AS init
RUN apt-get update && apt-get install --yes --no-install-recommends tini

FROM base
ENV NODE_ENV=production HOST=0.0.0.0
COPY --from=init /usr/bin/tini-static /usr/local/bin/tini
COPY --from=packages /app/node_modules node_modules
COPY package.json LICENSE ./
COPY prisma/migrations prisma/migrations
COPY docs docs
COPY src src
RUN ln -s /app/src/ops/mkopo.mjs /usr/local/bin/mkopo
# The file of heads: a volume that is mounted here gets the owner of this directory.
RUN install --directory --owner=1000 --group=1000 /var/lib/mkopo

# By number, so that an orchestrator can see that it is not root's.
USER 1000:1000
EXPOSE 3000 3001
STOPSIGNAL SIGTERM
# Whether the process lives: some orchestrators kill what is unhealthy, and a database that is gone is no reason to.
# A router of requests asks /health/ready instead.
HEALTHCHECK --interval=10s --timeout=3s --start-period=60s --start-interval=1s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT || 3000}/health/live`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["tini", "--"]
CMD ["node", "--max-semi-space-size=32", "--no-parallel-scavenge", "--no-allocation-site-pretenuring", "--heap-growing-percent=30", "--require", "./src/process/requireNode.cjs", "--import", "./src/observability/tracing.ts", "src/app/main.ts"]
