import fc from 'fast-check'

// Gives every property test the same seed in every run, so that a run tells of a change of the code and of nothing else.
// MKOPO_SEED gives another one, as `npm run try -- laws` does.
fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: Number(process.env.MKOPO_SEED ?? 1) })
