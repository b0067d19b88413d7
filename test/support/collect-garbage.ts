import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** Frees what nothing refers to, at once. */
export function collectGarbage(): void {
  setFlagsFromString('--expose-gc')
  runInNewContext('gc')()
}
