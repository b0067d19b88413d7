import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryDirectory } from '../cli/in-process.ts'
import { spawnCommand } from '../cli/process.ts'
import { sessions } from './sessions.ts'

/** Seeds of sessions, of which each gives two recordings. */
const SEEDS = Number(process.env.SEEDS ?? 10)

test('random sessions replay byte for byte in another process, time zone and locale', async () => {
  const folder = temporaryDirectory()
  const env = { TZ: 'Asia/Kathmandu', LANG: 'tr_TR.UTF-8', LC_ALL: 'tr_TR.UTF-8' }
  const failed: unknown[] = []
  let [recordings, inputs] = [0, 0]
  for await (const bundle of sessions(1, SEEDS)) {
    inputs += bundle.inputs.length
    const file = join(folder, `${++recordings}.json`)
    writeFileSync(file, JSON.stringify(bundle))
    const { code, out, err } = await spawnCommand(['replay', file, '--run-scripts', '--json'], env).ended
    // On a slow machine, a recording may name what cannot be repeated.
    if (code !== 0 && bundle.not_reproducible.length === 0)
      failed.push({ seed: Math.ceil(recordings / 2), out, err })
  }
  expect(failed).toEqual([])
  expect(recordings).toBe(2 * SEEDS)
  // Most of what the sessions do is in the recordings.
  expect(inputs).toBeGreaterThan(10 * recordings)
}, 900_000)
