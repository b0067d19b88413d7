import { readdirSync, readFileSync } from 'node:fs'
import { join, sep } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { type Requirement, requirements } from './requirements.ts'
import { type FoundTitle, findTitles, namedIds } from './titles.ts'

/** A test title and the file that declares it, relative to the project with forward slashes. */
export interface LocatedTitle extends FoundTitle {
  readonly file: string
}

/** A requirement and every test whose title names it. */
export interface CoveredRequirement extends Requirement {
  readonly tests: readonly LocatedTitle[]
}

/** Which tests carry which requirements. */
export interface Coverage {
  /** How many requirements have at least one test that shows them. */
  readonly covered: number
  readonly total: number
  readonly requirements: readonly CoveredRequirement[]
  /** Titles that name a number outside the list. */
  readonly unknown: readonly (LocatedTitle & { readonly id: string })[]
}

/** The titles of every `*.test.ts` file under `src` and `test` of a project, in the order of the paths. */
export function readTitles(project: string): readonly LocatedTitle[] {
  return ['src', 'test'].flatMap((folder) =>
    readdirSync(join(project, folder), { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.test.ts') && !path.split(sep).includes('node_modules'))
      .map((path) => join(folder, path))
      .sort()
      .flatMap((path) => {
        const file = path.replaceAll(sep, '/')
        return findTitles(readFileSync(join(project, path), 'utf8')).map((found) => ({ ...found, file }))
      }),
  )
}

/** Joins requirements and titles by the numbers that the titles name. */
export function coverageOf(list: readonly Requirement[], titles: readonly LocatedTitle[]): Coverage {
  const testsById = new Map<string, LocatedTitle[]>(list.map(({ id }) => [id, []]))
  const unknown: (LocatedTitle & { id: string })[] = []
  for (const title of titles) {
    for (const id of namedIds(title.title)) {
      const tests = testsById.get(id)
      if (tests) tests.push(title)
      else unknown.push({ ...title, id })
    }
  }
  const joined = list.map((requirement) => ({ ...requirement, tests: testsById.get(requirement.id) ?? [] }))
  return { covered: joined.filter(isShown).length, total: list.length, requirements: joined, unknown }
}

/** The report for people: each requirement with its tests, then those without one, then the sum. */
export function asText(coverage: Coverage): string {
  const all = coverage.requirements.flatMap(({ id, section, description, tests }) => [
    `${id}  ${section}: ${description}`,
    ...tests.map(
      ({ file, line, title, reportedIn }) =>
        `        ${file}:${line}  ${title}${reportedIn ? '' : ' (shows nothing)'}`,
    ),
  ])
  const missing = coverage.requirements.filter((requirement) => !isShown(requirement))
  const reasons = missing.map(({ id, beyond }) => `${id}  ${beyond ?? 'no test'}`)
  const uncovered = reasons.length > 0 ? ['not covered:', ...reasons, ''] : []
  return [...all, '', ...uncovered, `covered ${coverage.covered} of ${coverage.total}`, ''].join('\n')
}

/** One line per title that names a number outside the list. */
export function asErrors({ unknown, requirements: list }: Coverage): readonly string[] {
  const range = `${list.at(0)?.id} to ${list.at(-1)?.id}`
  return unknown.map(
    ({ id, file, line, title }) =>
      `${file}:${line}: the title "${title}" names ${id}, but requirements run from ${range}; correct the number.`,
  )
}

function isShown({ tests }: CoveredRequirement): boolean {
  return tests.some(({ reportedIn }) => reportedIn)
}

/** What the command prints and its exit code: 0, 1 for a title with an unknown number, 2 for an unknown option. */
export interface Report {
  readonly output: string
  readonly errors: readonly string[]
  readonly exitCode: 0 | 1 | 2
}

/** The command without its surroundings; the only option is `--json`. */
export function report(options: readonly string[], coverage: Coverage): Report {
  const unknownOption = options.find((option) => option !== '--json')
  if (unknownOption !== undefined) {
    const error = `coverage: unknown option ${unknownOption}; leave it out, the only one is --json.`
    return { output: '', errors: [error], exitCode: 2 }
  }
  const output = options.includes('--json') ? `${JSON.stringify(coverage, null, 2)}\n` : asText(coverage)
  const errors = asErrors(coverage)
  return { output, errors, exitCode: errors.length > 0 ? 1 : 0 }
}

// Only as a command: the tests import this file for its functions.
const command = process.argv[1]
if (command !== undefined && import.meta.url === pathToFileURL(command).href) {
  const project = fileURLToPath(new URL('../..', import.meta.url))
  const result = report(process.argv.slice(2), coverageOf(requirements, readTitles(project)))
  process.stdout.write(result.output)
  for (const error of result.errors) process.stderr.write(`${error}\n`)
  process.exitCode = result.exitCode
}
