// Puts the icons beside what was compiled.
import { cpSync } from 'node:fs';

cpSync(new URL('../icons', import.meta.url), new URL('../dist/icons', import.meta.url), { recursive: true });
