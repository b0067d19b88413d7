import { isObject } from '../../../src/core/json.ts'
import { atLeast, type Figure, none } from '../proof.ts'
import { runNode } from './processes.ts'

const VITEST = 'node_modules/vitest/vitest.mjs'

/** Runs the tests of the specification in a time zone; the seed determines the order of files and tests. */
export async function runSuite(
  zone: string,
  seed: number,
  say: (line: string) => void,
  what = 'test/spec',
): Promise<readonly Figure[]> {
  const order = ['--sequence.shuffle.files', '--sequence.shuffle.tests', `--sequence.seed=${seed}`]
  const { out, err } = await runNode([VITEST, 'run', what, '--reporter=json', ...order], zone)
  const report: unknown = JSON.parse(out.slice(out.indexOf('{"')))
  if (!isObject(report)) throw new Error(`the suite under TZ=${zone} said: ${err}`)
  const failed = Number(report.numFailedTests) + Number(report.numFailedTestSuites)
  if (failed > 0) say(`F5: TZ=${zone}, seed ${seed}: ${failures(report.testResults).join('\n')}`)
  return [
    atLeast(`suite under TZ=${zone}, shuffled by ${seed}: tests`, Number(report.numTotalTests), 1),
    none(`suite under TZ=${zone}, shuffled by ${seed}: failures`, failed),
  ]
}

function failures(files: unknown): string[] {
  const all = Array.isArray(files) ? files.filter(isObject) : []
  return all.flatMap(({ name, message, assertionResults }) => {
    const tests = Array.isArray(assertionResults) ? assertionResults.filter(isObject) : []
    const failed = tests.filter(({ status }) => status === 'failed')
    const told = failed.map(
      (each) => `${name}: ${each.fullName}: ${String(each.failureMessages).slice(0, 500)}`,
    )
    return message === '' || told.length > 0 ? told : [`${name}: ${String(message)}`]
  })
}
