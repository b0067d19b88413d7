import { execFileSync } from 'node:child_process'

/** Runs before all tests: the command line runs in separate processes, from dist/. */
export default function build(): void {
  execFileSync(process.execPath, ['build.mjs', '--if-changed'], { stdio: 'inherit' })
}
