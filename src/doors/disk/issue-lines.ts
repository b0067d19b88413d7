import type { Issue } from '../../kernel/json.ts'
import { lineOf } from '../json-text.ts'

const SHOWN = 5

/** The first issues with the lines that they are about. */
export function issueLines(
  path: string,
  text: string,
  issues: readonly Issue[],
): { readonly message: string; readonly line: number } {
  const placed = issues.slice(0, SHOWN).map(({ pointer, detail }) => {
    const line = lineOf(text, pointer)
    return { line, says: `${path}:${line}: ${pointer || '/'}: ${detail}` }
  })
  const more = issues.length > SHOWN ? [`and ${issues.length - SHOWN} more`] : []
  return { message: [...placed.map(({ says }) => says), ...more].join('; '), line: placed[0]?.line ?? 1 }
}
