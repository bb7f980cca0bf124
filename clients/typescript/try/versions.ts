/** The packages with which the packed client is tried, under names that keep their versions apart. */
export const PACKAGES = {
  'typescript-5.9': 'npm:typescript@5.9.3',
  'typescript-6': 'npm:typescript@6.0.3',
  'typescript-7': 'npm:typescript@7.0.2',
  'node-20': `npm:node-${process.platform}-${process.arch}@20.20.2`,
  'node-22': `npm:node-${process.platform}-${process.arch}@22.23.3`,
  'node-24': `npm:node-${process.platform}-${process.arch}@24.21.0`,
  '@types/node': '20.19.25',
  esbuild: '0.28.2',
} as const

export const COMPILERS = ['typescript-5.9', 'typescript-6', 'typescript-7'] as const
export const NODES = ['node-20', 'node-22', 'node-24'] as const
