import { signal } from '@preact/signals'
import { useEffect, useMemo, useRef } from 'preact/hooks'
import { wordsOf } from './api.ts'
import { coalesced } from './browser.ts'
import { type ChangeKind, isReloadDue, onKinds } from './live.ts'
import { sandboxName } from './place.ts'
import { Problem, Skeleton } from './ui.tsx'

function sourceOf<T>(load: () => Promise<T>, kinds: readonly ChangeKind[]) {
  const state = signal<{ readonly data?: T; readonly error?: string }>({})
  const reload = coalesced(async () => {
    try {
      state.value = { data: await load() }
    } catch (error) {
      state.value = { ...state.peek(), error: wordsOf(error) }
    }
  })
  /** Shows data that is known before it is loaded again. */
  const replace = (data: T) => {
    state.value = { data }
  }
  let holders = 0
  let stop = (): void => {}
  /** Loads now, and after each event of its kinds until it is released. @returns a function that releases it */
  const hold = () => {
    holders += 1
    if (holders === 1) {
      stop = onKinds((now) => {
        if (now.has('reload') || now.has('sandbox') || kinds.some((kind) => now.has(kind))) reload()
      })
      if (!isReloadDue()) reload()
    }
    return () => {
      holders -= 1
      if (holders === 0) stop()
    }
  }
  return { state, reload, replace, hold }
}

/** The loaded data of a view. The last good data stays while it is loaded again, and when that fails. */
function useSource<T>(source: ReturnType<typeof sourceOf<T>>) {
  useEffect(() => source.hold(), [source])
  const { data, error } = source.state.value
  const { reload, replace } = source
  const failed = error === undefined ? null : <Problem text={error} onRetry={reload} />
  /** Placeholder rows before the first data, and the error when the last call has failed; otherwise null. */
  const notice = failed ?? (data === undefined ? <Skeleton /> : null)
  return { data, reload, replace, notice }
}

/**
 * Loads the data of a view, and loads it again after each event of the named kinds: one call at a time, at most four times a
 * second.
 * @param about a text for everything else that the call depends on; the data is loaded again when it changes
 */
export function useLive<T>(load: () => Promise<T>, kinds: readonly ChangeKind[], about = '') {
  const latest = useRef(load)
  latest.current = load
  const name = sandboxName.value
  return useSource(useMemo(() => sourceOf(() => latest.current(), kinds), [name, about]))
}

/** Like {@link useLive}, for data that several parts of the page show: it is loaded once for all of them. @returns a hook */
export function sharedLive<T>(load: () => Promise<T>, kinds: readonly ChangeKind[]) {
  let name = ''
  let source = sourceOf(load, kinds)
  return () => {
    if (name !== sandboxName.value) {
      name = sandboxName.value
      source = sourceOf(load, kinds)
    }
    return useSource(source)
  }
}
