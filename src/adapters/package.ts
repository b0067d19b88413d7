import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The version of the specification that is emulated. */
export const CONTRACT_VERSION = '0.1.1'

/** The version of this package. */
export function packageVersion(): string {
  const { version } = JSON.parse(readFileSync(shippedFile('package.json'), 'utf8')) as { version: string }
  return version
}

/** The path of a file of this package, in a checkout or installed. */
export function shippedFile(...path: readonly string[]): string {
  let folder = dirname(fileURLToPath(import.meta.url))
  while (!existsSync(join(folder, 'fixtures', 'demo.json')) && dirname(folder) !== folder)
    folder = dirname(folder)
  return join(folder, ...path)
}
