import { readFileSync } from 'node:fs'
import { basename, dirname, resolve } from 'node:path'
import { strykerPlugins as plugins, strykerValidationSchema } from '@stryker-mutator/vitest-runner'

const [vitest] = plugins

/** Maximum time for the tests of one mutant: a share of the time of all tests, and at least LEAST milliseconds. */
const SHARE = 1 / 150
const LEAST = 500

/** The runner of Vitest with a limit on the cost of one mutant: see {@link affordable}. */
function boundedRunner(injector) {
  const runner = injector.injectFunction(vitest.factory)
  const dryRun = runner.dryRun.bind(runner)
  runner.dryRun = async (options) => {
    const result = await dryRun(options)
    if (result.mutantCoverage === undefined) return result
    return { ...result, mutantCoverage: affordable(result, filesOfMutants(options.files ?? [])) }
  }
  return runner
}
boundedRunner.inject = ['$injector']

/** The file of each mutant, found by the ids in the instrumented files. */
function filesOfMutants(files) {
  const fileOf = new Map()
  for (const file of files) {
    for (const [, mutant] of readFileSync(file, 'utf8').matchAll(/stryMutAct_\w+\("(\d+)"\)/g))
      fileOf.set(mutant, file)
  }
  return fileOf
}

/**
 * Some code runs in a thousand tests, so a surviving mutant there would take a minute. Each mutant therefore gets only the
 * tests that are closest to its file, within the limit of {@link SHARE}: first those in the same folder, then the others by
 * the share of the mutants they touch that are in the file. A slow test is skipped if several fast ones fit instead.
 */
function affordable({ tests, mutantCoverage }, fileOf) {
  const costs = new Map(tests.map(({ id, timeSpentMs }) => [id, timeSpentMs + 1]))
  const all = [...costs.values()].reduce((sum, cost) => sum + cost, 0)
  const budget = Math.max(LEAST, SHARE * all)
  const pairs = byAboutness(mutantCoverage.perTest, fileOf)
  const perTest = Object.fromEntries(Object.keys(mutantCoverage.perTest).map((id) => [id, {}]))
  const spent = new Map()
  const take = (id, mutant, after) => {
    spent.set(mutant, after)
    perTest[id][mutant] = mutantCoverage.perTest[id][mutant]
  }
  for (const { id, mutants } of pairs) {
    for (const mutant of mutants) {
      const after = (spent.get(mutant) ?? 0) + costs.get(id)
      if (after <= budget) take(id, mutant, after)
    }
  }
  // A mutant that only slow tests touch gets the fastest of them.
  for (const { id, mutants } of pairs.toSorted((one, other) => costs.get(one.id) - costs.get(other.id)))
    for (const mutant of mutants) if (!spent.has(mutant)) take(id, mutant, costs.get(id))
  return { static: mutantCoverage.static, perTest }
}

/** For each test, the mutants of each file that it touches; the tests closest to a file come first. */
function byAboutness(perTest, fileOf) {
  const pairs = Object.entries(perTest).flatMap(([id, hits]) => {
    const touched = Object.keys(hits)
    return [...grouped(touched, (mutant) => fileOf.get(mutant))].map(([file, mutants]) => ({
      id,
      mutants,
      about: nearness(id, file) + mutants.length / touched.length,
    }))
  })
  return pairs.sort((one, other) => other.about - one.about || other.mutants.length - one.mutants.length)
}

/** 2 for a test named like the file in the same folder, 1 for another test in that folder, else 0. */
function nearness(id, file) {
  const test = resolve(id.slice(0, id.indexOf('#')))
  if (file === undefined || dirname(test) !== dirname(file)) return 0
  return basename(test).startsWith(basename(file, '.ts')) ? 2 : 1
}

function grouped(values, keyOf) {
  const groups = new Map()
  for (const value of values) {
    const group = groups.get(keyOf(value))
    if (group === undefined) groups.set(keyOf(value), [value])
    else group.push(value)
  }
  return groups
}

export const strykerPlugins = [{ ...vitest, name: 'bounded', factory: boundedRunner }]
export { strykerValidationSchema }
