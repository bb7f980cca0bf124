/** The time zone of the tests: another day than that of the lenders for ten hours of each day, and one with daylight saving time. */
export const ELSEWHERE = 'America/Los_Angeles'

// As a set-up of the tests: the setting has its effect.
if (process.env.TZ === ELSEWHERE) {
  const { timeZone } = new Intl.DateTimeFormat().resolvedOptions()
  if (timeZone !== ELSEWHERE) throw new Error(`the server should be in Los Angeles, and is in ${timeZone}`)
  if (new Date(2026, 0, 31).getTimezoneOffset() !== 480) throw new Error('dates are not those of Los Angeles')
}
