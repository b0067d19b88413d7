import { useLayoutEffect, useRef } from 'preact/hooks'

/** The actions of the open view by key; each view sets its own while it is shown. */
export const viewKeys = new Map<string, () => void>()

/** Sets the keys of a view while it is shown. */
export function useKeys(keys: Readonly<Record<string, () => void>>): void {
  const latest = useRef(keys)
  latest.current = keys
  const names = Object.keys(keys)
  useLayoutEffect(() => {
    for (const name of names) viewKeys.set(name, () => latest.current[name]?.())
    return () => {
      for (const name of names) viewKeys.delete(name)
    }
  }, [names.join()])
}
