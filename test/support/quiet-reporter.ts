import { DefaultReporter, type TestCase, type TestModule } from 'vitest/node'

/** Prints the failed tests and a summary; in a terminal also the progress. The default reporter has a line for each file. */
export default class QuietReporter extends DefaultReporter {
  protected override printTestModule(module: TestModule): void {
    if (module.state() === 'failed') super.printTestModule(module)
    for (const test of module.children.allTests('passed')) {
      if (test.diagnostic()?.flaky)
        this.log(`Passed at the second try: ${module.relativeModuleId} > ${test.fullName}`)
    }
  }

  protected override printTestCase(
    state: 'failed' | 'passed' | 'skipped' | 'queued' | 'pending',
    test: TestCase,
  ): void {
    if (test.result().state === 'failed') super.printTestCase(state, test)
  }
}
