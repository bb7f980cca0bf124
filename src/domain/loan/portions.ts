/** Components of a debt, in the order in which money pays them within an instalment (contract 4.3.5). */
export const COMPONENTS = ['penalty', 'fees', 'interest', 'principal'] as const

export type Component = (typeof COMPONENTS)[number]

/** An amount by component, minor units. */
export type Portions = Record<Component, bigint>

/** Returns portions of 0, which the caller may add to. */
export const noPortions = (): Portions => ({ penalty: 0n, fees: 0n, interest: 0n, principal: 0n })

/** Returns the sum of all components, minor units. */
export const totalOf = (portions: Readonly<Portions>): bigint =>
  portions.penalty + portions.fees + portions.interest + portions.principal

/** Returns `a` plus `b`, component by component, minor units. */
export const add = (a: Readonly<Portions>, b: Readonly<Portions>): Portions => ({
  penalty: a.penalty + b.penalty,
  fees: a.fees + b.fees,
  interest: a.interest + b.interest,
  principal: a.principal + b.principal,
})

/** Returns `a` less `b`, component by component, minor units; negative where `b` is larger. */
export const subtract = (a: Readonly<Portions>, b: Readonly<Portions>): Portions => ({
  penalty: a.penalty - b.penalty,
  fees: a.fees - b.fees,
  interest: a.interest - b.interest,
  principal: a.principal - b.principal,
})

/** Portions of 0, shared: not to be added to. */
export const NONE: Readonly<Portions> = noPortions()
