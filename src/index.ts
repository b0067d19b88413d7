export { FixturesError } from './doors/fixtures.ts'
export { type Emulator, type EmulatorOptions, startEmulator } from './emulator.ts'
