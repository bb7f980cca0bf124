// The tests of this project mean nothing where the zone of the server is not the one they ask for.
const { timeZone } = new Intl.DateTimeFormat().resolvedOptions()
if (timeZone !== 'America/Los_Angeles') throw new Error(`the server should be in Los Angeles, and is in ${timeZone}`)
if (new Date(2026, 0, 31).getTimezoneOffset() !== 480) throw new Error('dates are not those of Los Angeles')
