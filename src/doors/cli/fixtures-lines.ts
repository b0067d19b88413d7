import { type Issue, isObject, type JsonObject } from '../../kernel/json.ts'
import { SHIPPED_WORLDS, shippedFile } from '../fixtures.ts'
import { lineOf } from '../json-text.ts'
import { type LocatedIssue, readJsonFile } from './json-files.ts'

/** Something wrong with fixtures: the file that has it, and where in it. */
export interface FixturesIssue extends LocatedIssue {
  readonly file: string
}

/**
 * Finds the lines of what is wrong with fixtures. Issues of a document that extends another are about the two merged: in
 * each collection its own records come first.
 */
export async function locateFixtures(source: string, issues: readonly Issue[]): Promise<FixturesIssue[]> {
  const read = await readJsonFile(fileOf(source))
  // What is wrong with a file that is no document has been said; only the line is missing.
  if ('issues' in read)
    return issues.map((issue) => ({ ...issue, file: source, line: read.issues[0]?.line ?? 0 }))
  return issues.map((issue) => {
    const own = ownPointer(issue.pointer, read.document)
    if (own === undefined)
      return { ...issue, file: `${read.document.extends}, extended by ${source}`, line: 0 }
    return { ...issue, file: source, pointer: own, line: lineOf(read.text, own) }
  })
}

/** The file behind the name of a shipped world, or the path itself. */
export function fileOf(source: string): string {
  const shipped = SHIPPED_WORLDS.some((world) => world === source)
  return shipped ? shippedFile('fixtures', `${source}.json`) : source
}

// Undefined when the record stands in the document that this one extends.
function ownPointer(merged: string, document: JsonObject): string | undefined {
  const [, name = '', index = '', rest = ''] = /^\/collections\/([^/]+)\/(\d+)(\/.*)?$/.exec(merged) ?? []
  if (name === 'organizations' && document.organization !== undefined) {
    return index === '0' ? `/organization${rest}` : undefined
  }
  const isInherited = document.extends !== undefined && Number(index) >= countOf(document, name)
  return index !== '' && isInherited ? undefined : merged
}

function countOf({ collections }: JsonObject, name: string): number {
  const records = isObject(collections) && Object.hasOwn(collections, name) ? collections[name] : undefined
  return Array.isArray(records) ? records.length : 0
}
