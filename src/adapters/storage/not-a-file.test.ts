import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, rmSync, symlinkSync } from 'node:fs'
import { dirname } from 'node:path'
import { expect, test } from 'vitest'
import { open } from '../../../test/support/disk-emulator.ts'
import { stateFile } from '../../../test/support/state-files.ts'

type Kind = readonly [name: string, make: (path: string) => void]

const KINDS: readonly Kind[] = [
  ['a directory', (path) => mkdirSync(path)],
  ...ofUnix(
    ['a FIFO', (path) => execFileSync('mkfifo', [path])],
    ['a directory', (path) => symlinkSync(dirname(path), path)],
    ['a device', (path) => symlinkSync('/dev/null', path)],
  ),
]
const NAMES = ['', '.journal']
const CASES = NAMES.flatMap((name) => KINDS.map(([other, make]) => [name, other, make] as const))

/** Windows has no FIFOs and no device files, and requires a privilege to create links. */
function ofUnix(...kinds: readonly Kind[]): readonly Kind[] {
  return process.platform === 'win32' ? [] : kinds
}

test.each(CASES)('sandbox.json%s as %s is refused, and no file changes', async (name, other, make) => {
  const file = stateFile()
  ;(await open(file)).persistence.close()
  rmSync(file + name, { force: true })
  make(file + name)
  const before = readdirSync(dirname(file)).sort()
  const refusal = await open(file).catch((error: Error) => error.message)
  expect(refusal).toContain(`is ${other}, and the emulator needs a file there. Move it away, for`)
  // A link of the state file is followed, so the message names the target.
  if (name !== '') expect(refusal).toContain(`${file}${name} is `)
  expect(readdirSync(dirname(file)).sort()).toEqual(before)
  rmSync(file + name, { recursive: true, force: true })
  ;(await open(file)).persistence.close()
})
