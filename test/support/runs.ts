/**
 * The part of their runs that property tests have in the suite, in hundredths. `npm run try -- laws` has all of them, of other
 * seeds: with the one seed of the suite, further runs find nothing that the first do not find.
 */
const PERCENT = Number(process.env.MKOPO_RUNS_PERCENT ?? 25)

/** Returns how often a property is tried. @param whole the number of a campaign */
export const runs = (whole: number): number => Math.ceil((whole * PERCENT) / 100)
