import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { once } from '../core/once.ts'

/** The name and the version of the specification that is emulated. */
export const CONTRACT = { title: 'Agent Workspace Service', version: '0.1.1' } as const

/** The version of this package. */
export const packageVersion = once((): string => {
  const { version } = JSON.parse(readFileSync(shippedFile('package.json'), 'utf8')) as { version: string }
  return version
})

/** The path of a file of this package, in a checkout or installed. Throws in a bundle of a user, which lacks these files. */
export function shippedFile(...path: readonly string[]): string {
  // Some bundlers remove the address.
  let folder = import.meta.url === undefined ? '/' : dirname(fileURLToPath(import.meta.url))
  while (!existsSync(join(folder, 'fixtures', 'demo.seed-1.json'))) {
    if (dirname(folder) === folder)
      throw new Error(
        'The files of the package are missing. In a bundle, mark agent-workspace-emulator as external.',
      )
    folder = dirname(folder)
  }
  return join(folder, ...path)
}
