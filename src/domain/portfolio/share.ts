/** Returns the share of an amount in percent, to two decimals; 0 of nothing. */
export const shareOf = (part: bigint, whole: bigint): number =>
  whole === 0n ? 0 : Number((part * 20_000n + whole) / (whole * 2n)) / 100
