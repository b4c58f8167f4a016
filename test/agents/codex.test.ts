import { describeProgram } from './contract.ts';
import { codex } from './programs.ts';

describeProgram(codex);
