import { type ReadonlySignal, type Signal, signal } from '@preact/signals'
import type { VNode } from 'preact'
import { useEffect, useMemo, useRef } from 'preact/hooks'
import { wordsOf } from './api.ts'
import { coalesced } from './browser.ts'
import { type ChangeKind, isReloadDue, onKinds } from './live.ts'
import { sandboxName } from './place.ts'
import { Problem, Skeleton } from './ui.tsx'

/** The loaded data of a view. The last good data stays while it is loaded again, and when that fails. */
export interface Loaded<T> {
  readonly data: T | undefined
  readonly reload: () => void
  /** Placeholder rows before the first data, and the error when the last call has failed; otherwise null. */
  readonly notice: VNode | null
}

interface Source<T> {
  readonly state: ReadonlySignal<{ readonly data: T | undefined; readonly error: string | undefined }>
  readonly reload: () => void
  /** Loads now, and after each event of its kinds until it is released. @returns a function that releases it */
  readonly hold: () => () => void
}

function sourceOf<T>(load: () => Promise<T>, kinds: readonly ChangeKind[]): Source<T> {
  const state: Signal<Source<T>['state']['value']> = signal({ data: undefined, error: undefined })
  const inTurn = coalesced()
  const reload = () =>
    inTurn(async () => {
      try {
        state.value = { data: await load(), error: undefined }
      } catch (error) {
        state.value = { ...state.peek(), error: wordsOf(error) }
      }
    })
  let holders = 0
  let stop = (): void => {}
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
  return { state, reload, hold }
}

function useSource<T>(source: Source<T>): Loaded<T> {
  useEffect(() => source.hold(), [source])
  const { data, error } = source.state.value
  const { reload } = source
  const failed = error === undefined ? null : <Problem text={error} onRetry={reload} />
  return { data, reload, notice: failed ?? (data === undefined ? <Skeleton /> : null) }
}

/**
 * Loads the data of a view, and loads it again after each event of the named kinds: one call at a time, at most four times a
 * second.
 * @param about a text for everything else that the call depends on; the data is loaded again when it changes
 */
export function useLive<T>(load: () => Promise<T>, kinds: readonly ChangeKind[], about = ''): Loaded<T> {
  const latest = useRef(load)
  latest.current = load
  const name = sandboxName.value
  return useSource(useMemo(() => sourceOf(() => latest.current(), kinds), [name, about]))
}

/** Like {@link useLive}, for data that several parts of the page show: it is loaded once for all of them. @returns a hook */
export function sharedLive<T>(load: () => Promise<T>, kinds: readonly ChangeKind[]): () => Loaded<T> {
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
