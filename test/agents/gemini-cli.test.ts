import { describeProgram } from './contract.ts';
import { geminiCli } from './programs.ts';

describeProgram(geminiCli);
