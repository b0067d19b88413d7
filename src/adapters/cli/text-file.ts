import { readFileSync, writeFileSync } from 'node:fs'
import { CommandFailed } from './command.ts'
import { codeOf } from './print.ts'

/** Reads a text file. Throws {@link CommandFailed}. @param fix the last sentence of the message */
export function readText(file: string, fix: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new CommandFailed(`${file} cannot be read (${codeOf(error)}). ${fix}`)
  }
}

/** Writes a text file. Throws {@link CommandFailed}. */
export function writeText(file: string, text: string, mode?: number): void {
  try {
    writeFileSync(file, text, { mode })
  } catch (error) {
    const fix = 'Give the path of a file in an existing directory.'
    throw new CommandFailed(`${file} cannot be written (${codeOf(error)}). ${fix}`)
  }
}
