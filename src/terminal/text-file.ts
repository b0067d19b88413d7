import { accessSync, constants, mkdirSync, writeFileSync } from 'node:fs'
import { readTextFile, UnreadableText } from '../adapters/text.ts'
import { CommandFailed } from './command.ts'
import { flagOf } from './options.ts'
import { codeOf } from './print.ts'

/** Reads a text file. Throws {@link CommandFailed}. @param fix the last sentence of the message */
export function readText(file: string, fix: string): string {
  try {
    return readTextFile(file)
  } catch (error) {
    if (error instanceof UnreadableText) throw new CommandFailed(`${file} ${error.message}. ${fix}`)
    throw new CommandFailed(`${file} cannot be read (${codeOf(error)}). ${fix}`)
  }
}

/** Writes a text file. Throws {@link CommandFailed}. @param access `private`: other users may not read it */
export function writeText(file: string, text: string, access?: 'private'): void {
  try {
    writeFileSync(file, text, { mode: access && 0o600 })
  } catch (error) {
    const fix = 'Give the path of a file in an existing directory.'
    throw new CommandFailed(`${file} cannot be written (${codeOf(error)}). ${fix}`)
  }
}

/** Creates the directory that an option names, so that a long run does not end without its files. Throws {@link CommandFailed}. */
export function requireWritable(directory: string, option: string): void {
  try {
    mkdirSync(directory, { recursive: true })
    accessSync(directory, constants.W_OK)
  } catch (error) {
    const fix = 'Give the path of a directory that this process can create or write.'
    throw new CommandFailed(`${flagOf(option)}: ${directory} cannot be written (${codeOf(error)}). ${fix}`)
  }
}

/** Writes indented JSON. What may hold secrets, such as a recording, is private. Throws {@link CommandFailed}. */
export function writeJson(file: string, value: unknown, access?: 'private'): void {
  writeText(file, `${JSON.stringify(value, null, 2)}\n`, access)
}
