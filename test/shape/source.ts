import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** A source file of the package: its path below `src`, and its text. */
export interface SourceFile {
  readonly path: string
  readonly text: string
}

/** All source files except tests, sorted by path. */
export function sourceFiles(project: string): readonly SourceFile[] {
  return readdirSync(join(project, 'src'), { recursive: true, encoding: 'utf8' })
    .map((path) => path.replaceAll('\\', '/'))
    .filter((path) => /\.tsx?$/.test(path) && !path.endsWith('.test.ts') && !path.includes('/templates/'))
    .sort()
    .map((path) => ({ path, text: readFileSync(join(project, 'src', path), 'utf8') }))
}

const EXPORT =
  /^export (?:declare )?(?:async )?(?:abstract )?(?:function\*?|class|const|interface|type|enum) (\w+)/gm

export function declaredTwice(files: readonly SourceFile[]): ReadonlyMap<string, readonly string[]> {
  const homes = new Map<string, string[]>()
  for (const { path, text } of files) {
    for (const name of new Set([...text.matchAll(EXPORT)].map(([, name]) => name as string)))
      homes.set(name, [...(homes.get(name) ?? []), path])
  }
  return new Map([...homes].filter(([, paths]) => paths.length > 1))
}

export function linesOf(text: string): number {
  return text.split('\n').length - 1
}

/** The percentage of lines that are comments. */
export function commentShare(files: readonly SourceFile[]): number {
  const lines = files.flatMap(({ text }) => text.split('\n').map((line) => line.trim()))
  const comments = lines.filter((line) => /^(?:\/\/|\/\*|\*)/.test(line))
  return Math.round((1_000 * comments.length) / lines.length) / 10
}

/** The files of core outside `core/faults` that import from it. */
export function knowFaults(files: readonly SourceFile[]): readonly string[] {
  return files
    .filter(({ path }) => path.startsWith('core/') && !path.startsWith('core/faults/'))
    .filter(({ text }) => /from '[^']*\bfaults\//.test(text))
    .map(({ path }) => path)
}
