import { describeProgram } from './contract.ts';
import { qwenCode } from './programs.ts';

describeProgram(qwenCode);
