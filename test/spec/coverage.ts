import { fileURLToPath, pathToFileURL } from 'node:url'
import { createVitest } from 'vitest/node'
import { type Requirement, requirements } from './requirements.ts'

/** A test, and where it is declared. */
export interface TaggedTest {
  readonly title: string
  /** Relative to the project, with forward slashes. */
  readonly file: string
  /** From 1. */
  readonly line: number
  readonly tags: readonly string[]
  /** False under `skip` and `todo`: such a test covers no requirement. */
  readonly isRun: boolean
}

/** A requirement and every test that has its id as a tag. */
export interface CoveredRequirement extends Requirement {
  readonly tests: readonly TaggedTest[]
}

/** Reads the tests of a project with Vitest, without running them. Throws for a tag that `tags.ts` does not list. */
export async function readTests(project: string): Promise<readonly TaggedTest[]> {
  const vitest = await createVitest('test', { root: project, watch: false })
  try {
    const modules = await vitest.experimental_parseSpecifications(await vitest.globTestSpecifications())
    return modules.flatMap((module) => {
      const [error] = module.errors()
      if (error !== undefined) throw new Error(`${module.relativeModuleId}: ${error.message.split('\n')[0]}`)
      return [...module.children.allTests()].map(({ name, location, tags, options }) => ({
        title: name,
        file: module.relativeModuleId,
        line: location?.line ?? 1,
        tags,
        isRun: options.mode !== 'skip' && options.mode !== 'todo',
      }))
    })
  } finally {
    await vitest.close()
  }
}

/** Each requirement with its tests, in the order of the list. */
export function coverageOf(list: readonly Requirement[], all: readonly TaggedTest[]): CoveredRequirement[] {
  const testsOf = (id: string) => all.filter(({ tags }) => tags.includes(id))
  return list.map((requirement) => ({ ...requirement, tests: testsOf(requirement.id) }))
}

/** The requirements without a test that is run. */
export function uncovered(coverage: readonly CoveredRequirement[]): readonly CoveredRequirement[] {
  return coverage.filter(({ tests }) => !tests.some(({ isRun }) => isRun))
}

/** The report as text: each requirement with its tests, then the uncovered ones, then the sum. */
export function asText(coverage: readonly CoveredRequirement[]): string {
  const all = coverage.flatMap(({ id, section, description, tests }) => [
    `${id}  ${section}: ${description}`,
    ...tests.map(
      (each) => `        ${each.file}:${each.line}  ${each.title}${each.isRun ? '' : ' (skipped)'}`,
    ),
  ])
  const missing = uncovered(coverage).map(({ id }) => `${id}  no test`)
  const list = missing.length > 0 ? ['not covered:', ...missing, ''] : []
  const sum = `covered ${coverage.length - missing.length} of ${coverage.length}`
  return [...all, '', ...list, sum, ''].join('\n')
}

// Runs only as a command, because the tests import this file for its functions.
const command = process.argv[1]
if (command !== undefined && import.meta.url === pathToFileURL(command).href) {
  const project = fileURLToPath(new URL('../..', import.meta.url))
  const coverage = coverageOf(requirements, await readTests(project))
  const isJson = process.argv.includes('--json')
  process.stdout.write(isJson ? `${JSON.stringify(coverage, null, 2)}\n` : asText(coverage))
  process.exitCode = uncovered(coverage).length > 0 ? 1 : 0
}
