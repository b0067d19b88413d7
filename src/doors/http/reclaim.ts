import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { type Cancel, later } from '../realtime.ts'

// By then the answer to the body is made, and nothing refers to it any more.
const DELAY = 500

let cancel: Cancel | undefined
let collect: (() => void) | undefined

/**
 * Gives the memory of a large body back soon. V8 collects when it needs room, and a process that has read 100 MiB once
 * may not need any for hours.
 */
export function reclaimSoon(): void {
  cancel?.()
  cancel = later(DELAY, () => {
    collect ??= collector()
    collect()
  })
}

// The only way to V8's collector in a process that was started without a flag for it.
function collector(): () => void {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  setFlagsFromString('--no-expose-gc')
  return collect
}
