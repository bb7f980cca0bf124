/**
 * Milliseconds before the next try. Uneven, so that two instances on the same loan both get through; and ever longer, 6 s
 * over all tries: a batch of an import may lock the loan for a second or two.
 */
export const backoffMs = (tries: number): number => (Math.random() * tries ** 2) / 6
