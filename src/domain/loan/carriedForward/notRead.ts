/** Thrown where a loan is asked for what was not read of it. Whoever read it reads the rest, and asks again. */
export class NotRead extends Error {
  constructor(what: string) {
    super(`${what} was not read`)
    this.name = 'NotRead'
  }
}

/** One for each name, so that all that lack a property have the same shape. */
const asked = new Map<string, PropertyDescriptor>()

function askedFor(name: string): PropertyDescriptor {
  const known = asked.get(name) ?? {
    get: () => {
      throw new NotRead(name)
    },
  }
  asked.set(name, known)
  return known
}

/** Says of properties that they were not read: to ask for one throws `NotRead`, and a copy does not have it. */
export function withoutReading<Of extends object, Name extends keyof Of & string>(
  of: Omit<Of, Name>,
  ...names: Name[]
): Of {
  for (const name of names) Object.defineProperty(of, name, askedFor(name))
  return of as Of
}
