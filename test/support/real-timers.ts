// Files share modules, and one of them may import the emulator while it fakes timers: the real ones are captured before.
import '../../src/core/time/real.ts'
