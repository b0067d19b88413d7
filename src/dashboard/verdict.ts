import { useEffect, useState } from 'preact/hooks'
import { after } from './browser.ts'
import { type EditorIssue, issuesOf } from './json-editor.tsx'

/**
 * The problems of a text according to the emulator, 150 ms after the last change of the text; undefined until then.
 * @param check rejects for an invalid text; undefined while there is nothing to check
 */
export function useVerdict(
  text: string | undefined,
  check: (() => Promise<unknown>) | undefined,
): readonly EditorIssue[] | undefined {
  const [verdict, setVerdict] = useState<readonly EditorIssue[] | undefined>(undefined)
  useEffect(() => {
    setVerdict(undefined)
    if (check === undefined) return
    let isCurrent = true
    const ask = () =>
      check().then(
        () => [],
        (error) => issuesOf(error),
      )
    const cancel = after(150, () => void ask().then((found) => isCurrent && setVerdict(found)))
    return () => {
      isCurrent = false
      cancel()
    }
  }, [text])
  return verdict
}
