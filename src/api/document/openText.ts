/**
 * Describes a text whose known values a later version may add to. A list of all values (`enum`) would make generated
 * clients fail at a value that they do not know.
 */
export const openText = (description: string, values: readonly string[]) => ({
  type: 'string' as const,
  description: `${description}: ${values.map((value) => `\`${value}\``).join(', ')}. A later version may add values.`,
  'x-extensible-enum': values,
})
