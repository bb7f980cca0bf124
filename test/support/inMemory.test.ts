import { spawnSync } from 'node:child_process'
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { removeLeftFolders } from './inMemory.ts'

test('the folder of a run that is gone is removed, and neither that of one that runs nor any other', async () => {
  const memory = await mkdtemp(join(tmpdir(), 'mkopo-memory-'))
  const gone = spawnSync(process.execPath, ['--version']).pid
  const own = `mkopo-tests-${process.pid}`
  for (const name of [own, `mkopo-tests-${gone}`, 'mkopo-tests-of-others'])
    await mkdir(join(memory, name, 'within'), { recursive: true })
  removeLeftFolders(memory)
  expect((await readdir(memory)).toSorted()).toEqual([own, 'mkopo-tests-of-others'].toSorted())
  await rm(memory, { recursive: true })
})
