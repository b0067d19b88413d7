import { execFileSync } from 'node:child_process'

/** Before the tests: what runs in processes of its own, such as the command line and the scripts of scenarios, runs from dist/. */
export default function build(): void {
  execFileSync(process.execPath, ['build.mjs', '--if-changed'], { stdio: 'inherit' })
}
