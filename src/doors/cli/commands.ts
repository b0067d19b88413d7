import {
  type Action,
  CLIENT_OPTIONS,
  DOCTOR_OPTIONS,
  type Invocation,
  START_OPTIONS,
  VALIDATE_OPTIONS,
} from './invocation.ts'
import type { OptionName } from './options.ts'

export { CLIENT_OPTIONS, START_OPTIONS } from './invocation.ts'

/** One command: how it is called, and where its code is, which is loaded only when it runs. */
export interface CommandDeclaration {
  /** `clock advance` is the command `advance` below `clock`. */
  readonly name: string
  readonly says: string
  /** In the notation of commander: `<needed>`, `[optional]`, `[several...]`, each with its meaning. */
  readonly args: readonly { readonly name: string; readonly says: string }[]
  readonly options: readonly OptionName[]
  readonly load: () => Promise<(invocation: Invocation) => Promise<number>>
}

function command<N extends OptionName>(declaration: {
  readonly name: string
  readonly says: string
  readonly args?: CommandDeclaration['args']
  readonly options: readonly N[]
  readonly load: () => Promise<Action<N>>
}): CommandDeclaration {
  // An invocation with the values of these options is all that the action reads.
  return { args: [], ...declaration, load: declaration.load as CommandDeclaration['load'] }
}

/** The command that runs when none is named. */
export const DEFAULT_COMMAND = 'start'

export const commands: readonly CommandDeclaration[] = [
  command({
    name: 'start',
    says: 'Start the emulator (the default command)',
    options: START_OPTIONS,
    load: async () => (await import('./start.ts')).start,
  }),
  command({
    name: 'wait',
    says: 'Wait until an emulator is ready: exit code 0, or 1 when the time is up',
    options: [...CLIENT_OPTIONS, 'timeout'],
    load: async () => (await import('./wait.ts')).wait,
  }),
  command({
    name: 'status',
    says: 'Show whether an emulator runs and what its clock says',
    options: CLIENT_OPTIONS,
    load: async () => (await import('./control-commands.ts')).status,
  }),
  command({
    name: 'clock',
    says: 'Show the virtual clock',
    options: CLIENT_OPTIONS,
    load: async () => (await import('./control-commands.ts')).clock,
  }),
  command({
    name: 'clock advance',
    says: 'Move the virtual clock forward; everything that becomes due happens on the way',
    args: [{ name: '<duration>', says: 'such as 90s, 10m, 24h, 29d or PT24H' }],
    options: CLIENT_OPTIONS,
    load: async () => (await import('./control-commands.ts')).advance,
  }),
  command({
    name: 'reset',
    says: 'Put the starting world back',
    options: CLIENT_OPTIONS,
    load: async () => (await import('./control-commands.ts')).reset,
  }),
  command({
    name: 'validate',
    says: 'Check fixtures and settings files; without files, those that start would use',
    args: [{ name: '[files...]', says: 'JSON files; what each holds is recognised by its members' }],
    options: VALIDATE_OPTIONS,
    load: async () => (await import('./validate.ts')).validate,
  }),
  command({
    name: 'doctor',
    says: 'Check that an emulator can start here: exit code 1 when something is in the way',
    options: DOCTOR_OPTIONS,
    load: async () => (await import('./doctor.ts')).doctor,
  }),
]
