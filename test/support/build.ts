import { execFileSync } from 'node:child_process'

/** Runs before all tests: the command line and the scripts of scenarios run in separate processes, from dist/. */
export default function build(): void {
  execFileSync(process.execPath, ['build.mjs', '--if-changed'], { stdio: 'inherit' })
}
